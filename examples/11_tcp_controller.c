/* A controller in C that moves the first joint of the Amtec arm over TCP.

   cc -o controller examples/11_tcp_controller.c -lm
   linkwork run amtec/tcp                 (in another terminal)
   ./controller 127.0.0.1 7420            (and the token, where the part has one)
*/
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(argc > 2 ? atoi(argv[2]) : 7420)};
    inet_pton(AF_INET, argc > 1 ? argv[1] : "127.0.0.1", &at.sin_addr);
    int door = socket(AF_INET, SOCK_STREAM, 0), commands = 0;
    if (connect(door, (struct sockaddr *)&at, sizeof at)) return perror("no part"), 1;
    FILE *in = fdopen(door, "r"), *out = fdopen(door, "w");
    char line[65536];
    fprintf(out, "join%s%s\n", argc > 3 ? " " : "", argc > 3 ? argv[3] : ""), fflush(out);
    while (fgets(line, sizeof line, in) && strcmp(line, "ready\n"))
        if (!strncmp(line, "error", 5)) return fputs(line, stderr), 1; /* the token is wrong, perhaps */
        else commands += !strncmp(line, "command", 7);
    double time = 0, angle = 0, wanted = 1;
    while (time < 4 || fabs(angle - wanted) > 0.02) {
        if (!fgets(line, sizeof line, in)) return fputs("the part is gone\n", stderr), 1;
        if (sscanf(line, "s %*d %lf %lf", &time, &angle) != 2) return fputs(line, stderr), 1;
        wanted = 0.5 * sin(fmin(time, 4)); /* sways for 4 s, then goes where that ended */
        fprintf(out, "c %.6f", wanted);
        for (int n = 1; n < commands; n++) fprintf(out, " -");
        fprintf(out, "\n"), fflush(out);
    }
    printf("J1 is at %.3f rad after %.2f s.\n", angle, time);
    return 0;
}
